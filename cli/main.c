#include "tandem.h"

#include <stdio.h>

int main(void)
{
    printf("tandem %s\n", td_version());
    return 0;
}
